"""The provider `openai_compatible`: any server that speaks OpenAI's chat completions or its Responses API.

Read `provider` first. `transport` sends a request and yields the bytes of its response.
`chunks` makes one normal form of the responses of all servers, from which `accumulator` makes stream events. `messages`
and `body` write a request in the dialect of its server. `refusal_facts` reads from a refusal what a server does not
take. `listing` reads what a server says about its models. `responses` is the second protocol, with the same
connections, errors and facts.
"""
