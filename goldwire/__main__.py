"""``python -m goldwire``, and what the script ``goldwire`` calls."""


def main() -> None:
    """Run the command line.

    ``import goldwire``, which has come first, has made sure of the rooms: only then may one of them be imported.
    """
    from harness.command import main as run

    run()


if __name__ == "__main__":
    main()
