"""``python -m goldwire``, and what the script ``goldwire`` calls."""

import sys


def main() -> None:
    """Run the command line.

    ``import goldwire``, which has come first, has made sure of the rooms: only then may one of them be imported.
    """
    try:
        from harness.command import main as run
    except KeyboardInterrupt:
        # Ctrl-C at once, while the first modules are loaded; the statuses stand in one of these.
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
