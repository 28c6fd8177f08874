"""How many messages one client may send."""

from __future__ import annotations

from chat.page.relay.rate_limiter import BURST_ACTIONS, RateLimiter


def test_burst_of_messages_up_to_the_limit_is_allowed_and_further_ones_are_refused() -> None:
    limiter = RateLimiter()
    answers = [limiter.allows() for _ in range(int(BURST_ACTIONS) * 3)]
    assert all(answers[: int(BURST_ACTIONS)])
    assert not answers[-1]
    assert limiter.refused


def test_messages_are_allowed_again_after_a_pause() -> None:
    limiter = RateLimiter(tokens=0)
    assert not limiter.allows()
    limiter.updated_at_s -= 1
    assert limiter.allows()
