"""Forms of the review pages. All errors are sentences for the reviewer."""

from __future__ import annotations

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy

from chat.models import ReviewDecision, User
from chat.models.access_log import ACCESS_REASON_LIMIT
from chat.models.form_fields import PlainTextField, SentencesForm
from chat.models.reviews import LABEL_LIMIT, LABELS_LIMIT, NOTE_LIMIT

MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"
"""The authentication backend that is asked which users have a permission."""


class ReasonForm(SentencesForm):
    """The reason to read or export conversations."""

    reason = PlainTextField(
        label=gettext_lazy("Reason"),
        max_length=ACCESS_REASON_LIMIT,
        widget=forms.Textarea(attrs={"rows": 2, "autofocus": True}),
        error_messages={
            "required": "Say why you need to read it.",
            "max_length": f"A reason can have at most {ACCESS_REASON_LIMIT} characters.",
        },
    )


class ReviewerForm(forms.Form):
    """The reviewer to whom conversations are assigned: one of the active staff who may write verdicts."""

    reviewer = forms.ModelChoiceField(label=gettext_lazy("Reviewer"), queryset=User.objects.none(), empty_label=None)

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data)
        field = self.fields["reviewer"]
        assert isinstance(field, forms.ModelChoiceField)
        reviewers = User.objects.with_perm("chat.change_review", backend=MODEL_BACKEND)
        field.queryset = reviewers.filter(is_staff=True).order_by("username")


class LabelsField(PlainTextField):
    """Labels separated by commas. Labels that differ only in case count once, in their first spelling."""

    def clean(self, value: object) -> list[str]:
        """Return the labels. Raise ValidationError if there are too many, or if one is too long."""
        labels: dict[str, str] = {}
        for text in super().clean(value).split(","):
            if label := " ".join(text.split()):
                labels.setdefault(label.casefold(), label)
        if len(labels) > LABELS_LIMIT:
            raise forms.ValidationError(f"At most {LABELS_LIMIT} labels can stand at one conversation.")
        if any(len(label) > LABEL_LIMIT for label in labels.values()):
            raise forms.ValidationError(f"A label can have at most {LABEL_LIMIT} characters.")
        return list(labels.values())


class VerdictForm(SentencesForm):
    """A decision on one conversation, with a note and the labels that replace the present ones."""

    decision = forms.ChoiceField(
        choices=[choice for choice in ReviewDecision.choices if choice[0] != ReviewDecision.ASSIGNED],
        error_messages={"required": "Choose a verdict.", "invalid_choice": "There is no such verdict."},
    )
    note = PlainTextField(
        required=False,
        max_length=NOTE_LIMIT,
        error_messages={"max_length": f"A note can have at most {NOTE_LIMIT:,} characters."},
    )
    labels = LabelsField(required=False)
    seen = forms.IntegerField(required=False, min_value=0, max_value=2**63 - 1)
    """Id of the newest verdict that the page showed; 0 or absent if there was none."""
