"""The REST door: one module for each noun, thin views that make the calls that the page makes.

Every answer that is not a success is a problem of RFC 9457 (`problems`); what is not theirs is a 404.
"""
