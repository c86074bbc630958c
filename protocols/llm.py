"""A seat that a language model plays (CalBench paper, A.2 to A.5 and F.3).

It knows no game: the game's prompt pack says what a model is told and how its replies are read. One
conversation is kept for the whole game. A reply that cannot be read is answered with the exact error, once;
after that it counts as an empty batch, and the game goes on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from autogen_agentchat.base import ChatAgent
from autogen_core.models import ChatCompletionClient
from pydantic import Field, PositiveInt

from framework import Action, Conflict, Move, Observation, Params, Prompts, SeatStart, Send, Strategy
from framework.errors import UserError
from framework.reading import LONGEST, Unreadable, read_reply, reasoning
from framework.registry import find
from framework.results import total_usage
from protocols.brains import AgentBrain, Brain, ModelBrain, Said, Sampling
from protocols.events import InvalidResponse, ModelCall, ModelSeat
from protocols.models import Model, ModelSpec, Settings, check_price, model_of, open_model
from protocols.reflecting import reflect
from protocols.thread import Thread, make_context

__all__ = ["Appendix", "LlmParams", "LlmStrategy"]

_MOST_MOVES = 256
"""How many actions of a reply are looked at besides its messages."""


class LlmParams(Params):
    """Parameters of a seat that a language model plays.

    Attributes:
        model: `openai:NAME`, `anthropic:NAME`, `ollama:NAME`, `local`, `replay:FILE`, or the YAML file of an
            AutoGen component config.
        base_url: Where an OpenAI-compatible server listens.
        key_env: The environment variable that holds the key; empty for the provider's usual one.
        agent: `module:function` or `file.py:function` that makes an AutoGen chat agent, instead of a model.
        temperature: Sampling temperature; None leaves it to the provider.
        max_tokens: The longest reply in tokens; None leaves it to the provider.
        prompts: Folder of templates that take the place of the game's own.
        context: What of the conversation is sent: `unbounded`, `buffered:N` messages, or about `tokens:N`.
        reflect: Whether the seat is asked about its beliefs after each round, apart from the conversation.
        keep: How many characters of a reply the conversation keeps.
    """

    model: str = ""
    base_url: str = ""
    key_env: str = ""
    agent: str = ""
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: PositiveInt | None = None
    prompts: str = ""
    context: str = "unbounded"
    reflect: bool = False
    keep: PositiveInt = 16_000


class Appendix(NamedTuple):
    """A block that follows the system prompt, which is otherwise unchanged.

    Attributes:
        text: The block.
        name: Its name and version, as traces state it.
    """

    text: str = ""
    name: str = ""


class LlmStrategy(Strategy[Observation]):
    """Asks a language model for every move."""

    params_type: ClassVar[type[Params]] = LlmParams

    def __init__(
        self,
        params: Params | None = None,
        *,
        from_client: ChatCompletionClient | None = None,
        from_agent: ChatAgent | None = None,
        brain: Callable[[str], Brain] | None = None,
        **values: Any,
    ) -> None:
        """Take parameters, and see that the model can be asked.

        Args:
            params: The parameters as a whole.
            from_client: An AutoGen model client, instead of a model by name; seats may share it.
            from_agent: An AutoGen chat agent that takes the seat; it must play no other.
            brain: Makes what answers, from the system prompt, instead of the parameters.
            values: The parameters one by one.

        Raises:
            UserError: If no model is named, or a package, a key, a price or a folder is missing.
        """
        super().__init__(params, **values)
        self._client, self._agent, self._make_brain = from_client, from_agent, brain
        make_context(self.params.context)
        if self.params.agent:
            self._check_agent()
        self._spec = None if from_client or from_agent or brain or self.params.agent else self._checked_spec()
        if self.params.prompts and not Path(self.params.prompts).is_dir():
            raise UserError(f"prompts {self.params.prompts} is not a folder; name one with templates")
        self._prompts: Prompts[Any] | None = None
        self._brain: Brain | None = None
        self._system = ""
        self._first = True
        self._most = 0

    def _check_agent(self) -> None:
        params = self.params
        if params.model:
            raise UserError(f"a seat names the model {params.model} and the agent {params.agent}; keep one of them")
        find("agents", params.agent)

    def _checked_spec(self) -> ModelSpec:
        params = self.params
        if not params.model:
            raise UserError("a seat of a language model names none; write for instance llm:model=openai:gpt-5-mini")
        spec = ModelSpec.parse(params.model, base_url=params.base_url, key_env=params.key_env)
        spec.check()
        settings = Settings.from_environment()
        settings.check()
        check_price(spec, settings)
        return spec

    def appendix(self, start: SeatStart) -> Appendix:
        """What follows the base prompt; nothing here."""
        return Appendix()

    @property
    def system_prompt(self) -> str:
        return self._system

    @property
    def label(self) -> str:
        """Short form of what plays the seat."""
        if self._spec is not None:
            return self._spec.label
        if self._client is not None:
            return f"client:{type(self._client).__name__}"
        return f"agent:{self._agent.name}" if self._agent else self.params.agent or "brain"

    # --- the game -------------------------------------------------------------------------------

    async def start_game(self, start: SeatStart) -> None:
        prompts = start.prompts
        if prompts is None:
            raise UserError(f"game {start.game} has no prompts, so models cannot play it; give it a Game.prompts")
        if self.params.prompts:
            prompts = prompts.using(Path(self.params.prompts))
        block = self.appendix(start)
        self._prompts = prompts
        self._most = start.messages
        self._system = prompts.system(start) + (f"\n\n{block.text}" if block.text else "")
        self._brain = self._open(start, prompts)
        digest = hashlib.sha256(block.text.encode()).hexdigest() if block.text else ""
        self.record.events.append(
            ModelSeat(
                model=self.label,
                config=self._spec.model_dump(mode="json") if self._spec else {},
                pack=prompts.name,
                pack_hash=prompts.hash,
                context=self.params.context,
                variant=f"{block.name} sha256:{digest}" if digest else "",
            )
        )

    def _open(self, start: SeatStart, prompts: Prompts[Any]) -> Brain:
        params = self.params
        if self._make_brain is not None:
            return self._make_brain(self._system)
        if self._agent is not None or params.agent:
            return AgentBrain(self._agent or _made_agent(params.agent), self._system, params.keep)
        sampling = Sampling(
            temperature=params.temperature,
            max_tokens=params.max_tokens,
            schema=prompts.answer_type(start),
            sample=f"{self.rng.getrandbits(64):016x}",
            keep=params.keep,
        )
        thread = Thread(self._system, make_context(params.context))
        model = open_model(self._spec) if self._spec is not None else self._model_of_client()
        return ModelBrain(model, thread, sampling)

    def _model_of_client(self) -> Model:
        assert self._client is not None
        return model_of(self._client)

    async def end_game(self) -> None:
        if self._brain is not None:
            self._brain.close()

    # --- moves ----------------------------------------------------------------------------------

    async def start_round(self, observation: Observation) -> None:
        self._first = True

    async def act(self, observation: Observation) -> Sequence[Action]:
        first, self._first = self._first, False
        return await self._move(observation, self._pack.message(observation, first))

    async def retry(self, observation: Observation, conflict: Conflict) -> Sequence[Action] | None:
        return await self._move(observation, self._pack.message(observation, False, conflict))

    @property
    def _pack(self) -> Prompts[Any]:
        assert self._prompts is not None, "start_game comes first"
        return self._prompts

    @property
    def _mind(self) -> Brain:
        assert self._brain is not None, "start_game comes first"
        return self._brain

    async def _move(self, observation: Observation, prompt: str) -> Sequence[Action]:
        brain = self._mind
        self.record.prompt = brain.first(prompt)
        try:
            move = await self._say(observation, "move", prompt)
        except Unreadable as error:
            try:
                move = await self._say(observation, "repair", self._pack.repair(str(error)))
            except Unreadable as again:
                self.record.events.append(InvalidResponse(round=observation.round.index, error=str(again)))
                return ()
        self.record.thinking = move.thinking
        return _cut(move.actions, self._most)

    async def _say(self, observation: Observation, purpose: Literal["move", "repair"], prompt: str) -> Move:
        """One call, recorded whatever comes of it.

        Raises:
            Unreadable: If the reply cannot be read.
        """
        self.record.waiting = self.label
        said = await self._mind.ask(prompt)
        self.record.waiting = ""
        self.record.usage = total_usage((self.record.usage, said.usage))
        self.record.events.append(_call(observation, purpose, prompt, said))
        reply = said.completion
        move: Move = read_reply(reply.text, self._pack.read, complete=reply.finish != "length")
        return move._replace(thinking=reasoning(reply.text, reply.thought, move.thinking))

    async def end_round(self, observation: Observation) -> None:
        if self.params.reflect:
            self.record.waiting = self.label
            self.record.events.extend(await reflect(self._mind, self._pack, observation))
            self.record.waiting = ""


def _call(observation: Observation, purpose: Literal["move", "repair"], prompt: str, said: Said) -> ModelCall:
    reply, usage = said.completion, said.usage
    return ModelCall(
        round=observation.round.index,
        purpose=purpose,
        prompt="" if purpose == "move" else prompt,
        reply=reply.text[: LONGEST + 1],
        kept=len(said.kept) if len(said.kept) < len(reply.text) else None,
        thought=reply.thought,
        sent=said.sent,
        finish=reply.finish,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cost=usage.cost,
        latency=reply.latency,
        tries=reply.tries,
        cached=reply.cached,
    )


def _cut(actions: Sequence[Action], messages: int) -> Sequence[Action]:
    """The actions without messages far beyond the limit; the first one beyond it stays, and is refused for all."""
    kept: list[Action] = []
    sent = 0
    for action in actions:
        sent += isinstance(action, Send)
        if sent <= messages + 1 or not isinstance(action, Send):
            kept.append(action)
    return kept[: messages + 1 + _MOST_MOVES]


def _made_agent(name: str) -> ChatAgent:
    """A new agent from `module:function` or `file.py:function`."""
    agent = find("agents", name)()
    if not isinstance(agent, ChatAgent):
        raise UserError(f"agent {name!r} makes a {type(agent).__name__}; return an AutoGen chat agent")
    return agent
