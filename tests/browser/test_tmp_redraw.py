from __future__ import annotations
import pytest
from playwright.sync_api import Page, expect
from tests.browser.actions import ANSWER, ask_and_wait, change_settings, ask
from tests.live_server import LiveServer

def test_redraw(page: Page, server: LiveServer) -> None:
    page.goto(server.url)
    change_settings(page, model="scenario-function-script", engine="session")
    code = """import time, sys
from IPython.display import clear_output
import matplotlib.pyplot as plt
plt.plot([1]); plt.show()
for e in range(8):
    clear_output(wait=True)
    plt.plot([e, 1]); plt.show()
    print('epoch', e)
    time.sleep(0.5)
for i in range(60):
    print('line', i, flush=True); time.sleep(0.05)
for i in range(20):
    sys.stdout.write(f'\\rbar {i}'); sys.stdout.flush(); time.sleep(0.05)
time.sleep(1)
"""
    ask(page, code)
    figure = page.locator(f"{ANSWER} figure[data-graph-index] img")
    expect(figure).to_be_visible(timeout=60000)
    page.evaluate("""() => { const img = document.querySelector('figure[data-graph-index] img'); img.dataset.mine = '1'; window.srcs = new Set(); window.blank = 0; window.heights = new Set();
      setInterval(() => { const one = document.querySelectorAll('figure[data-graph-index] img'); if (one.length !== 1) window.blank += 1; else { window.srcs.add(one[0].src); window.heights.add(one[0].offsetHeight); window.same = one[0].dataset.mine !== undefined || one[0] === img; if (one[0].naturalWidth === 0) window.blank += 1; } }, 10); window.img = img; }""")
    pre = page.locator(f"{ANSWER} .output pre").last
    expect(pre).to_contain_text("line 50", timeout=60000)
    page.screenshot(path="/tmp/redraw_live.png")
    print("follow", pre.evaluate("one => [one.scrollHeight, one.clientHeight, one.scrollTop]"))
    expect(pre).to_contain_text("bar 19", timeout=60000)
    print(page.evaluate("() => [window.srcs.size, window.blank, [...window.heights], document.querySelector('figure[data-graph-index] img') === window.img]"))
    expect(page.locator(f'{ANSWER}[data-status="done"]')).to_be_visible(timeout=60000)
    page.locator(".about > summary").last.click()
    page.locator(".cleared > summary").click()
    page.wait_for_timeout(500)
    page.screenshot(path="/tmp/redraw_done.png", full_page=True)
    print(page.locator(".cleared").inner_text()[:400])
