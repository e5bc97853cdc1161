"""Formats of model providers' APIs: messages, tools, answers, usage. One API per file.

    openai_chat        chat completions, of any server that supports them
    openai_responses   responses
    openai_embeddings  embeddings
    anthropic          messages
    google             generateContent
    bedrock            Converse
    langchain          messages of LangChain, which stand before any of these
    vercel             tool calls and results of Vercel's AI SDK, likewise
    blocks             one block of a message's content, whichever API it is of
    calls              tool calls and results, for all of them
    media              texts, images, sounds and files, likewise
    tools              definitions of tools, likewise
    roles              roles of speakers, likewise
    finish_reasons     why a model stopped, likewise
    shapes             recognise which API a value has the shape of
    servers            which provider is behind a host
    fields             read fields of JSON and of SDKs' objects alike

Nothing here calls a server or imports a client library.
"""
