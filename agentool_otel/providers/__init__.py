"""What the APIs of model providers look like: messages, tools, answers, usage. One API a file.

    openai_chat        chat completions, of any server that speaks them
    openai_responses   responses
    openai_embeddings  embeddings
    anthropic          messages
    google             generateContent
    tools              definitions of tools, for all of them
    finish_reasons     why a model stopped, likewise
    shapes             recognise which API a value has the shape of
    servers            which provider is behind a host
    fields             read fields of JSON and of SDKs' objects alike

Nothing here asks a server or imports a client library.
"""
