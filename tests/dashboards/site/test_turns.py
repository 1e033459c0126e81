"""What is wanted first is computed first."""

from __future__ import annotations

import threading

from dashboards.site import turns as module
from dashboards.site.turns import Turns


def test_later_waits_for_first_and_goes_one_by_one() -> None:
    turns, order, inside = Turns(), [], threading.Event()
    finish = threading.Event()
    running: list[int] = []
    most = 0

    def first() -> None:
        with turns.first():
            inside.set()
            finish.wait(10)
            order.append("first")

    def later() -> None:
        nonlocal most
        with turns.later():
            running.append(1)
            most = max(most, len(running))
            order.append("later")
            running.pop()

    threads = [threading.Thread(target=first)]
    threads[0].start()
    assert inside.wait(10)
    threads += [threading.Thread(target=later) for _ in range(3)]
    for t in threads[1:]:
        t.start()
    finish.set()
    for t in threads:
        t.join(20)
    assert order == ["first", "later", "later", "later"]
    assert most == 1


def test_later_does_not_wait_for_ever() -> None:
    module_wait, module.MOST_WAIT_S = module.MOST_WAIT_S, 0.05
    try:
        turns = Turns()
        with turns.first(), turns.later():
            pass
    finally:
        module.MOST_WAIT_S = module_wait
