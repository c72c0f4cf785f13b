"""The genuine Python SDK, sync and async, against `mem0-code serve`. Usage: memory_client.py URL"""

import asyncio
import sys

from mem0 import AsyncMemoryClient, MemoryClient
from mem0.exceptions import MemoryNotFoundError, ValidationError

URL = sys.argv[1]


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def sync_story():
    client = MemoryClient(api_key="local", host=URL)
    whom = {"user_id": "py ada/1"}
    added = client.add("Remember that the greenhouse relay is called heron-4.", filters=whom, metadata={"site": "north"})
    check(added["event_id"] and added["status"] == "SUCCEEDED", added)
    client.add([{"role": "user", "content": "Which relay?"}, {"role": "assistant", "content": "heron-4"}], user_id="py ada/1", infer=False)
    found = client.search("what is the greenhouse relay called", filters=whom, top_k=5)["results"]
    check(any("heron-4" in memory["memory"] for memory in found), found)
    check(all(0 <= memory["score"] <= 1 for memory in found), found)
    check(client.search("greenhouse relay", filters={"user_id": "somebody else"})["results"] == [], "a stranger's search")
    check(client.search("relay", filters={"AND": [whom, {"metadata": {"site": "north"}}]})["results"], "metadata filter")
    page = client.get_all(filters=whom, page=1, page_size=1)
    check(page["count"] >= 3 and len(page["results"]) == 1 and page["next"] and page["previous"] is None, page)
    memory_id = added["results"][0]["id"]
    check("heron-4" in client.get(memory_id)["memory"], "get")
    changed = client.update(memory_id, text="The greenhouse relay is called heron-5.", metadata={"site": "south"})
    check(changed["memory"].endswith("heron-5.") and changed["metadata"]["site"] == "south", changed)
    events = [change["event"] for change in client.history(memory_id)]
    check(events == ["ADD", "UPDATE"], events)
    client.batch_update([{"memory_id": memory_id, "text": "The greenhouse relay is called heron-6."}])
    check(client.get(memory_id)["memory"].endswith("heron-6."), "batch update")
    check(any(entity["name"] == "py ada/1" and entity["type"] == "user" for entity in client.users()["results"]), "users")
    client.delete(memory_id)
    for call in (lambda: client.get(memory_id), lambda: client.update(memory_id, text="x")):
        try:
            call()
        except MemoryNotFoundError:
            pass
        else:
            raise AssertionError("a deleted memory was found")
    try:
        client.search("relay")
    except ValidationError as error:
        check("user_id" in str(error), error)
    else:
        raise AssertionError("a search for everybody was answered")
    rest = [{"memory_id": memory["id"]} for memory in client.get_all(filters=whom)["results"]]
    client.batch_delete(rest[:1])
    client.delete_all(user_id="py ada/1")
    check(client.get_all(filters=whom)["count"] == 0, "delete_all")
    client.add("I keep bees.", user_id="py bob")
    client.delete_users(user_id="py bob")
    check(client.get_all(filters={"user_id": "py bob"})["count"] == 0, "delete_users")


async def async_story():
    client = AsyncMemoryClient(api_key="local", host=URL)
    whom = {"user_id": "py async"}
    adds = [client.add(f"Fact {number}: the pump runs at {number} Hz.", filters=whom, infer=False) for number in range(20)]
    for added in await asyncio.gather(*adds):
        check(len(added["results"]) == 1, added)
    found = await client.search("how fast does the pump run", filters=whom)
    check(found["results"], found)
    page = await client.get_all(filters=whom, page=2, page_size=15)
    check((page["count"], len(page["results"])) == (20, 5), page)
    memory_id = page["results"][0]["id"]
    await client.update(memory_id, text="The pump is off.")
    check((await client.history(memory_id))[-1]["new_memory"] == "The pump is off.", "history")
    await client.delete(memory_id)
    await client.delete_all(user_id="py async")
    check((await client.get_all(filters=whom))["count"] == 0, "delete_all")


sync_story()
asyncio.run(async_story())
print("python: sync and async stories passed")
