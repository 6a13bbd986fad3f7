"""`python -m proviso_service.cli`, for places where the `proviso` script is not on the path."""

from proviso_service.cli import main

if __name__ == "__main__":
    main()
