"""The limits of selection: how the catalog's items are searched, and how many of them enter a request."""

from pydantic import Field

from proviso_service.settings import Fraction, Seconds, Section


class SelectionConfig(Section):
    """Which of the catalog's agent items enter a request. The numbers were found with `evals/selection.py`."""

    chunk_chars: int = Field(500, ge=50, le=4_000, description="Longest piece of an item that is searched.")
    top_k: int = Field(20, ge=1, le=1_000, description="Number of best pieces whose items may enter a request.")
    top_n: int = Field(5, ge=0, le=100, description="Most agent items of one request; 0 takes none.")
    min_score: Fraction = Field(0.355, description="Lowest similarity of an agent item to the message.")
    max_distance: Fraction = Field(0.05, description="How far an agent item's similarity may be below the best one's.")
    word_weight: Fraction = Field(
        0.34, description="Share of common words in the similarity; the rest is the similarity of meaning."
    )
    time_limit_s: Seconds = Field(2.0, description="Time limit of the search; without a result no agent item enters.")
    max_chars: int = Field(40_000, ge=0, description="Most characters of all items; agent items over it are dropped.")
    max_tokens: int = Field(
        12_000, ge=0, description="Most tokens of all items, as estimated; agent items over it are dropped."
    )
    warn_share: Fraction = Field(0.8, description="Share of either limit from which a request carries a warning.")
    max_omitted: int = Field(200, ge=0, description="Most omitted items that a request records, best first.")
