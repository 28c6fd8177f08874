"""The templates of whole messages: parts, status, versions, sources, details and usage."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest
from django.template.loader import render_to_string

from chat.messages.approval import Approval
from chat.messages.notices import Notice
from chat.models import Turn
from chat.page.fragments import message_html, part_html, status_html, usage_html
from chat.page.message_views import AnswerDetails, ConversationUsage, Grounding, MessageView, Rating, Versions
from chat.vocabulary.parts import JSON, ExecutableCode, Text
from tests.chat.page.fragments.samples import (
    CALL_APPROVAL,
    COMPLETE_ANSWER,
    DETAILS,
    FILE,
    GRAPH,
    GROUNDING,
    IMAGE,
    MESSAGE_ID,
    OTHER_APPROVAL,
    OTHER_MESSAGE_ID,
    PARTS_OF_EVERY_KIND,
    RESULT_APPROVAL,
    message_view,
    view_of,
)
from tests.parsed_html import ParsedHtml


def button_actions(html: str) -> list[tuple[str | None, str | None]]:
    """Return the action and the message id of each button."""
    buttons = ParsedHtml(html).find_all("button")
    return [(button.get("data-action"), button.get("data-message-id")) for button in buttons]


@pytest.mark.parametrize("role", ["model", "user"])
@pytest.mark.parametrize("status", ["done", "running", "waiting", "failed"])
def test_message_template_renders_every_include(role: str, status: str) -> None:
    view = replace(
        message_view(role=role, status=status, text="go", parts=PARTS_OF_EVERY_KIND, attachments=(GRAPH, IMAGE, FILE)),
        notice=Notice("error", "It failed.", "continue"),
        versions=Versions(1, 2, None, MESSAGE_ID),
        grounding=GROUNDING,
        details=DETAILS,
        rating=Rating(MESSAGE_ID, is_good=False, reason="<b>"),
        left_out=2,
    )
    html = message_html(view)
    assert "{%" not in html
    assert ParsedHtml(html).classes >= {
        *("chip", "gallery", "grounding", "left-out", "versions", "rating", "why", "about"),
    }
    assert html.count("<figure ") == 2
    assert html.count("data-part-kind=") == (len(PARTS_OF_EVERY_KIND) if role == "model" else 0)


@pytest.mark.parametrize("status", Turn.Status)
def test_article_of_a_message_has_ids_and_data_attributes_and_no_whitespace_between_parts(status: Turn.Status) -> None:
    parts = (view_of(Text("a")), view_of(ExecutableCode("print(1)", "PYTHON")))
    html = message_html(message_view(status=status, parts=parts))
    parsed = ParsedHtml(html)
    assert (parsed.root_tags, parsed.root_texts) == (["article"], [])
    article = parsed.elements[0].attributes
    assert article["id"] == f"message-{MESSAGE_ID}"
    assert article["data-message-id"] == str(MESSAGE_ID)
    assert (article["data-role"], article["data-status"]) == ("model", status)
    assert f'-parts" class="parts">{part_html(parts[0])}{part_html(parts[1])}</div>' in html
    assert f'id="message-{MESSAGE_ID}-end"' in html
    assert f'id="message-{MESSAGE_ID}-status"' in html


def test_transcript_consists_of_its_articles_without_whitespace() -> None:
    views = [message_view(role="user", text="hi"), message_view()]
    html = render_to_string("chat/_transcript.html", {"messages": views})
    assert html == f'<div id="transcript" hx-ignore>{"".join(map(message_html, views))}</div>'


def test_question_is_rendered_as_markdown_and_its_source_is_kept_for_editing() -> None:
    html = message_html(message_view(role="user", text="  *a*\nb\n\n [GRAPH:0] <b>"))
    rendered = "<p><em>a</em><br>\nb</p>\n<p>[GRAPH:0] &lt;b&gt;</p>\n"
    assert f'<div dir="auto" class="said" data-source="  *a*\nb\n\n [GRAPH:0] &lt;b&gt;">{rendered}</div>' in html


def test_images_of_a_question_are_shown_in_a_gallery_after_its_other_files() -> None:
    html = message_html(message_view(role="user", attachments=(FILE, IMAGE, replace(IMAGE, index=3))))
    assert html.count('<div class="gallery">') == 1
    assert html.index('class="chip"') < html.index('<div class="gallery">')
    assert len(ParsedHtml(html).find_all("figure")) == 2
    assert 'class="gallery"' not in message_html(message_view(attachments=(GRAPH, FILE)))


# Status


@pytest.mark.parametrize("status", ["queued", "running"])
def test_live_answer_shows_what_it_is_doing_and_has_no_button(status: str) -> None:
    html = status_html(message_view(status=status))
    assert "Running the code…" in html
    assert "stop" in html
    assert "<button" not in html


def test_answer_that_waits_for_a_decision_says_so_and_can_be_stopped() -> None:
    html = status_html(message_view(status="waiting"))
    assert "This answer waits for a decision." in html
    assert "You can stop it below." in html
    assert "Running the code…" not in html
    assert "<button" not in html


def test_notice_of_an_ended_answer_is_shown_escaped_with_its_action_button() -> None:
    notice = Notice("warning", "Ended < early.", "continue")
    html = status_html(message_view(status="interrupted", notice=notice))
    assert "Ended &lt; early." in html
    assert 'data-action="continue"' in html


def test_finished_answer_without_a_notice_has_an_empty_status() -> None:
    assert status_html(message_view()) == f'<div id="message-{MESSAGE_ID}-status" class="status"></div>'


@pytest.mark.parametrize(
    ("notice_action", "button_action", "code_execution"),
    [("continue", "continue", None), ("answer", "continue", "off"), ("regenerate", "regenerate", None)],
)
def test_each_action_of_a_notice_has_its_own_button(
    notice_action: str, button_action: str, code_execution: str | None
) -> None:
    html = status_html(message_view(notice=Notice("warning", "Something.", notice_action)))
    (button,) = ParsedHtml(html).find_all("button")
    assert (button["data-action"], button.get("data-code-execution")) == (button_action, code_execution)
    assert button.get("data-message-id") == (str(MESSAGE_ID) if button_action == "regenerate" else None)


def test_retry_notice_is_shown_instead_of_waiting_for_the_model() -> None:
    html = message_html(replace(message_view(status="running"), retry_notice="Asking again in 3 s…"))
    assert "Asking again in 3 s…" in html
    assert "Waiting for the model…" not in html


def test_page_shows_how_many_messages_were_not_sent_to_the_model() -> None:
    one, two = replace(message_view(), left_out=1), replace(message_view(), left_out=2)
    assert "The 1 oldest message of this conversation was not sent" in message_html(one)
    assert "The 2 oldest messages of this conversation were not sent" in message_html(two)


# Decisions


def waiting_message(approval: Approval) -> str:
    """Return the HTML of an answer that asks for a decision."""
    return message_html(replace(message_view(status="waiting"), approval=approval))


def decision_buttons(html: str) -> list[tuple[str | None, str | None]]:
    """Return the action and the call id of each button that decides."""
    buttons = ParsedHtml(html).find_all("button")
    wanted = ("approve", "deny", "edit-code")
    return [(one["data-action"], one.get("data-call-id")) for one in buttons if one["data-action"] in wanted]


def test_code_that_needs_approval_is_shown_with_its_buttons() -> None:
    html = waiting_message(CALL_APPROVAL)
    assert decision_buttons(html) == [("approve", "approval-1"), ("edit-code", None), ("deny", "approval-1")]
    assert "Run this code?" in html
    assert '<span class="nb">print</span>' in html
    assert "Waiting for you." in html
    assert "You can stop it below." in html
    # The only argument is the code.
    assert 'aria-label="Arguments"' not in html


def test_approval_shows_the_other_arguments_of_the_call_below_its_code() -> None:
    html = waiting_message(replace(CALL_APPROVAL, arguments={"code": "print(1)", "timeout_s": 600}))
    assert "timeout_s&#34;: 600" in html


def test_approval_of_a_function_without_code_shows_its_name_and_arguments() -> None:
    html = waiting_message(OTHER_APPROVAL)
    assert decision_buttons(html) == [("approve", "call-2"), ("deny", "call-2")]
    for words in ("Run this function?", "<p>look_up</p>", "&#34;value&#34;: &#34;a&#34;"):
        assert words in html


def test_result_that_needs_approval_is_shown_with_buttons_to_send_it_or_not() -> None:
    html = waiting_message(RESULT_APPROVAL)
    assert decision_buttons(html) == [("approve", "approval-2"), ("deny", "approval-2")]
    for words in (
        "Send this result to the model?",
        "Send to the model",
        "Do not send",
        "&#34;output&#34;: &#34;1&#34;",
        "with its graphs",
    ):
        assert words in html
    assert "without graphs" in waiting_message(replace(RESULT_APPROVAL, is_private=True))


def test_whole_arguments_and_results_are_shown_to_the_person_who_decides() -> None:
    long_value: dict[str, JSON] = {"value": "x" * 30_000 + "y"}
    for approval in (replace(OTHER_APPROVAL, arguments=long_value), replace(RESULT_APPROVAL, result=long_value)):
        assert f"{'x' * 30_000}y" in waiting_message(approval)


@pytest.mark.parametrize("character", ["\u202e", "\u2066", "\u200b", "\ufeff"])
def test_invisible_characters_in_code_are_pointed_out(character: str) -> None:
    warning = "This code contains invisible characters."
    assert warning in waiting_message(replace(CALL_APPROVAL, code=f"print(1{character})"))
    assert warning not in waiting_message(replace(CALL_APPROVAL, code="print('👩\u200d🔬')"))


def test_running_answer_has_no_approval_buttons() -> None:
    assert decision_buttons(message_html(message_view(status="running"))) == []


# Versions


def test_version_shows_its_number_and_has_buttons_for_both_neighbours() -> None:
    before, after = OTHER_MESSAGE_ID, uuid.UUID(int=9, version=4)
    html = message_html(replace(message_view(role="user", text="a"), versions=Versions(2, 3, before, after)))
    assert button_actions(html)[:2] == [("switch", str(before)), ("switch", str(after))]
    assert ">2/3<" in html
    assert " disabled" not in html


def test_message_without_other_versions_has_no_buttons_to_switch() -> None:
    assert 'class="versions"' not in message_html(message_view(role="user", text="a"))


def test_first_and_last_version_have_only_one_enabled_switch_button() -> None:
    first = message_html(replace(message_view(), versions=Versions(1, 2, None, OTHER_MESSAGE_ID)))
    last = message_html(replace(message_view(), versions=Versions(2, 2, OTHER_MESSAGE_ID, None)))
    assert button_actions(first)[:2] == [("switch", None), ("switch", str(OTHER_MESSAGE_ID))]
    assert button_actions(last)[:2] == [("switch", str(OTHER_MESSAGE_ID)), ("switch", None)]
    for html in (first, last):
        assert len([button for button in ParsedHtml(html).find_all("button") if "disabled" in button]) == 1


# Sources, details and usage


def test_sources_are_numbered_links_that_send_no_referrer() -> None:
    html = message_html(COMPLETE_ANSWER)
    links = [link for link in ParsedHtml(html).find_all("a") if link.get("target") == "_blank"]
    sources = [link for link in links if link["rel"] == "noopener noreferrer nofollow ugc"]
    assert [link["href"] for link in sources] == ["https://example.org/a?b=1&c=2", "http://b.example/"]
    assert sources == links
    assert 'A page &amp; more</bdi></a> <span class="muted">example.org</span>' in html
    assert "b.example</bdi></a></li>" in html


def test_web_searches_of_an_answer_are_shown_even_without_sources() -> None:
    assert "<q>rivers of Europe</q> · <q>longest &lt;river&gt;</q>" in message_html(COMPLETE_ANSWER)
    html = message_html(replace(COMPLETE_ANSWER, grounding=Grounding((), ("only searched",))))
    assert "<q>only searched</q>" in html
    assert "<ol>" not in html


def test_details_of_an_answer_show_model_time_tokens_and_cost() -> None:
    html = message_html(COMPLETE_ANSWER)
    # The line has the model and the time; tokens and cost are in the folded details, inside the footer.
    assert '<summary title="How this answer was made"><span>Gemini Flash</span><time ' in html
    assert html.index("<footer") < html.index("<dt>Time</dt>") < html.index("</footer>")
    assert "may run code" not in html
    live = message_html(replace(COMPLETE_ANSWER, status="running"))
    assert '<span>Gemini Flash</span><span class="may-run">may run code</span><time ' in live
    assert "<dt>Code</dt><dd>The question asks for a plot.</dd><dt>Tokens read</dt><dd>1,200</dd>" in html
    assert "<dt>Tokens in all</dt><dd>1,234</dd><dt>Cost</dt><dd>$0.0021</dd>" in html
    assert "<dt>Answered in</dt><dd>4.2 s</dd>" in html


def test_details_without_values_are_left_out() -> None:
    details = AnswerDetails("m", False, None)
    html = message_html(replace(COMPLETE_ANSWER, details=details))
    assert "<dt>Model</dt><dd>m</dd><dt>Code</dt><dd>no code</dd></dl>" in html


def test_cost_is_shown_as_unknown_if_the_price_is_unknown() -> None:
    html = message_html(replace(COMPLETE_ANSWER, details=replace(DETAILS, cost="")))
    assert "<dt>Cost</dt><dd>not known</dd>" in html


def test_estimated_and_unknown_token_counts_are_labelled() -> None:
    unknown = replace(DETAILS, usage=(), total=None, cost="")
    not_known = "not known: the model's service did not report them"
    html = message_html(replace(COMPLETE_ANSWER, details=replace(unknown, is_uncounted=True)))
    assert f"<dt>Tokens in all</dt><dd>{not_known}</dd><dt>Cost</dt><dd>not known</dd>" in html
    html = message_html(replace(COMPLETE_ANSWER, details=replace(unknown, estimated=1500)))
    assert "<dt>Tokens, estimated</dt><dd>about 1,500: the model's service did not report them</dd>" in html
    html = message_html(replace(COMPLETE_ANSWER, details=replace(DETAILS, estimated=1000)))
    assert "<dt>Tokens in all</dt><dd>1,234</dd><dt>Tokens, estimated</dt><dd>about 1,000:" in html


def test_providers_finish_reason_is_escaped_in_the_details() -> None:
    html = message_html(replace(COMPLETE_ANSWER, details=replace(DETAILS, ended="SAFETY: <i>no</i>")))
    assert "<dt>Ended with</dt><dd><bdi>SAFETY: &lt;i&gt;no&lt;/i&gt;</bdi></dd>" in html


@pytest.mark.parametrize(("rounds", "is_shown"), [(0, False), (1, False), (2, True)])
def test_number_of_requests_is_shown_if_there_were_several(rounds: int, is_shown: bool) -> None:
    html = message_html(replace(COMPLETE_ANSWER, details=replace(DETAILS, rounds=rounds)))
    assert (f"<dt>Requests to the model</dt><dd>{rounds}</dd>" in html) == is_shown
    assert ("<dt>Requests to the model</dt>" in html) == is_shown


@pytest.mark.parametrize(
    ("usage", "inner_html"),
    [
        (ConversationUsage(0, "", 0), ""),
        (ConversationUsage(12345, "$0.0123", 2), "<span>12,345 tokens</span><span>$0.0123</span>"),
        (ConversationUsage(5, "", 1), "<span>5 tokens</span>"),
        (ConversationUsage(1234, "", 1, is_estimated=True), "<span>about 1,234 tokens</span>"),
    ],
)
def test_usage_of_a_conversation_is_one_element_with_tokens_and_cost(usage: ConversationUsage, inner_html: str) -> None:
    html = usage_html(usage)
    parsed = ParsedHtml(html)
    assert (parsed.root_tags, parsed.root_texts) == (["span"], [])
    assert parsed.elements[0].attributes["id"] == "conversation-usage"
    assert html.endswith(f">{inner_html}</span>")


# Attributes that would change in the browser


@pytest.mark.parametrize(
    "view",
    [
        COMPLETE_ANSWER,
        replace(COMPLETE_ANSWER, status="running"),
        replace(COMPLETE_ANSWER, status="waiting", approval=CALL_APPROVAL),
        message_view(role="user"),
    ],
)
def test_messages_have_no_htmx_attributes(view: MessageView) -> None:
    names = ParsedHtml(message_html(view)).attribute_names
    assert not [name for name in names if name.startswith(("hx-", "data-hx-"))]


def test_class_attributes_are_written_as_browsers_serialize_them() -> None:
    # htmx adds and removes classes. The browser then writes the attribute again, with single spaces.
    for element in ParsedHtml(message_html(COMPLETE_ANSWER)).elements:
        classes = element.attributes.get("class")
        assert classes is None or (classes and classes == " ".join(classes.split()))
