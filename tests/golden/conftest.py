"""The option that writes the golden files anew."""


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write the golden files as they are now")
