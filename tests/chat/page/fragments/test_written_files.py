"""The templates of files that code wrote."""

from __future__ import annotations

from dataclasses import replace

from chat.page.attachment_views import WrittenFileView
from chat.page.fragments import message_html
from tests.chat.page.fragments.samples import FILE, MESSAGE_ID, message_view
from tests.parsed_html import ParsedHtml

NAME = '<b>"a" & b.csv'
WRITTEN = WrittenFileView(NAME, 1234, "2026-01-01T00:00:00+00:00", is_new=True, url="/session/a", keep_url="/keep/a")
KEPT = replace(WRITTEN, is_new=False, kept=FILE, kept_state_url="/state/")


def test_file_that_code_wrote_has_a_download_link_and_a_button_to_keep_it() -> None:
    html = message_html(replace(message_view(), files=(WRITTEN,)))
    parsed = ParsedHtml(html)
    [item] = [one for one in parsed.find_all("li") if one.get("data-name")]
    assert (item.get("id"), item.get("data-name")) == (f"file-{MESSAGE_ID}-0", NAME)
    [link] = [one for one in parsed.find_all("a") if one.get("data-action") == "download-file"]
    assert (link.get("href"), link.get("download")) == ("/session/a", NAME)
    [button] = [one for one in parsed.find_all("button") if one.get("data-action") == "keep-file"]
    assert button.get("data-url") == "/keep/a"
    assert "<b>" not in html
    assert '<span class="tag">new</span>' in html
    assert "They end with the Python session." in html


def test_kept_file_links_to_its_attachment() -> None:
    html = message_html(replace(message_view(), files=(KEPT,)))
    assert f'<a href="{FILE.url}"' in html
    assert 'data-state-url="/state/"' in html
    assert "Kept as attachment" in html
    assert "keep-file" not in html
    assert "They end with the Python session." not in html
    assert '<span class="tag">changed</span>' in html


def test_list_of_many_written_files_shows_some_and_folds_the_others() -> None:
    html = message_html(replace(message_view(), files=(WRITTEN,) * 15))
    assert "<summary>3 more</summary>" in html
    assert f'id="file-{MESSAGE_ID}-14"' in html
