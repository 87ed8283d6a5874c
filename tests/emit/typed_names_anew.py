"""Small functions that bind a name to something of another kind, each with arguments."""

from typed_given import given


@given(lambda: ("leetcode", ["leet", "code"]))
def of_word_break(s, words):
    words = set(words)
    n = len(s)
    dp = [False] * (n + 1)
    dp[0] = True
    for i in range(1, n + 1):
        for j in range(i):
            if dp[j] and s[j:i] in words:
                dp[i] = True
                break
    return dp[n]


@given(lambda: ("hello",))
def of_reverse_words(s):
    s = list(s)
    i, j = 0, len(s) - 1
    while i < j:
        s[i], s[j] = s[j], s[i]
        i += 1
        j -= 1
    s = "".join(s)
    return s


@given(lambda: (3, ["a"]))
def of_param_changed(n, words):
    if n > 2:
        words = words + ["x"]
    words = set(words)
    t = 0
    for w in ["a", "x"]:
        if w in words:
            t += 1
    return t, n


@given(lambda: ([1, 2],))
def of_loop_then_change(a):
    for k in range(3):
        a = [x + k for x in a]
    a = tuple_sum(a)
    return a


def tuple_sum(a):
    t = 0
    for x in a:
        t += x
    return t


@given(lambda: ([1, 2],))
def of_inner_holds(a):
    def size():
        return len(a)

    t = 0
    for x in range(2):
        t += size()
    a = 5
    return t + a


@given(lambda: ([1, 2],))
def of_in_loop(a):
    out = 0
    for k in range(2):
        a = a if k == 0 else len(a)
        out = a
    return out
