"""The request that Gemini's generateContent takes, as far as the service uses it; anything else is refused."""

from base64 import b64decode
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, AliasGenerator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

NonEmpty = Annotated[str, Field(min_length=1)]
FunctionName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$")]


class Wire(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=AliasGenerator(to_camel), frozen=True)


class FunctionCall(Wire):
    name: FunctionName
    args: dict[str, Any] = {}
    id: str | None = None


class FunctionResponse(Wire):
    name: FunctionName
    response: dict[str, Any]
    id: str | None = None


def _decoded(text: str) -> bytes:
    """Google's JSON takes both alphabets of base64."""
    return b64decode(text.replace("-", "+").replace("_", "/"), validate=True)


class Blob(Wire):
    """Google's JSON takes a field's name in both spellings, and Google's client uses the second one here."""

    mime_type: Literal["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"] = Field(
        validation_alias=AliasChoices("mimeType", "mime_type")
    )
    data: Annotated[bytes, BeforeValidator(_decoded)]


class Part(Wire):
    """Exactly one kind of data."""

    text: NonEmpty | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    inline_data: Blob | None = None
    thought_signature: str | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> "Part":
        kinds = [self.text, self.function_call, self.function_response, self.inline_data]
        if sum(kind is not None for kind in kinds) != 1:
            raise ValueError("a part must have exactly one kind of data")
        return self


class Content(Wire):
    role: Literal["user", "model"]
    parts: Annotated[list[Part], Field(min_length=1)]

    @property
    def calls(self) -> list[FunctionCall]:
        return [p.function_call for p in self.parts if p.function_call]

    @property
    def responses(self) -> list[FunctionResponse]:
        return [p.function_response for p in self.parts if p.function_response]

    @property
    def text(self) -> str:
        return "".join(p.text for p in self.parts if p.text)


class SystemInstruction(Wire):
    role: Literal["user"] | None = None
    parts: Annotated[list[Part], Field(min_length=1)]


class Schema(Wire):
    """The part of OpenAPI 3.0 that declarations may use."""

    type: Literal["OBJECT", "ARRAY", "STRING", "INTEGER", "NUMBER", "BOOLEAN"]
    title: str | None = None
    description: str | None = None
    format: str | None = None
    nullable: bool | None = None
    enum: list[str] | None = None
    default: Any = None
    items: "Schema | None" = None
    properties: dict[str, "Schema"] | None = None
    required: list[str] | None = None
    any_of: "list[Schema] | None" = None
    property_ordering: list[str] | None = None
    minimum: float | None = None
    maximum: float | None = None
    min_items: int | str | None = None
    max_items: int | str | None = None
    min_length: int | str | None = None
    max_length: int | str | None = None

    @model_validator(mode="after")
    def _complete(self) -> "Schema":
        if self.type == "ARRAY" and self.items is None:
            raise ValueError("items: missing field")
        if missing := set(self.required or ()) - set(self.properties or ()):
            raise ValueError(f"required: {sorted(missing)} are not defined")
        return self


class FunctionDeclaration(Wire):
    name: FunctionName
    description: NonEmpty
    parameters: Schema | None = None


class Tool(Wire):
    function_declarations: Annotated[list[FunctionDeclaration], Field(min_length=1)]


class FunctionCallingConfig(Wire):
    mode: Literal["AUTO", "ANY", "NONE"]


class ToolConfig(Wire):
    function_calling_config: FunctionCallingConfig | None = None


class ThinkingConfig(Wire):
    """Google's client uses the second spelling here, too."""

    thinking_budget: Annotated[int, Field(ge=-1)] | None = Field(
        None, validation_alias=AliasChoices("thinkingBudget", "thinking_budget")
    )
    thinking_level: Literal["MINIMAL", "LOW", "MEDIUM", "HIGH"] | None = Field(
        None, validation_alias=AliasChoices("thinkingLevel", "thinking_level")
    )


class SafetySetting(Wire):
    category: Literal[
        "HARM_CATEGORY_DANGEROUS_CONTENT",
        "HARM_CATEGORY_HARASSMENT",
        "HARM_CATEGORY_HATE_SPEECH",
        "HARM_CATEGORY_SEXUALLY_EXPLICIT",
    ]
    threshold: Literal["OFF", "BLOCK_NONE", "BLOCK_ONLY_HIGH", "BLOCK_MEDIUM_AND_ABOVE", "BLOCK_LOW_AND_ABOVE"]


class GenerationConfig(Wire):
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    candidate_count: Literal[1] | None = None
    max_output_tokens: Annotated[int, Field(ge=1)] | None = None
    thinking_config: ThinkingConfig | None = None


class GenerateContentRequest(Wire):
    contents: Annotated[list[Content], Field(min_length=1)]
    system_instruction: SystemInstruction | None = None
    tools: list[Tool] = []
    tool_config: ToolConfig | None = None
    safety_settings: Annotated[list[SafetySetting], Field(max_length=4)] = []
    generation_config: GenerationConfig | None = None

    @model_validator(mode="after")
    def _turns(self) -> "GenerateContentRequest":
        """Calls are answered at once and in full, and the last turn is the user's."""
        for before, content in zip([None, *self.contents], self.contents, strict=False):
            asked = [call.name for call in before.calls] if before else []
            if asked != [response.name for response in content.responses]:
                raise ValueError("the number of function response parts must equal that of function call parts")
        if self.contents[0].role != "user" or self.contents[-1].role != "user":
            raise ValueError("the conversation must begin and end with a user turn")
        return self

    @property
    def tool_names(self) -> list[str]:
        return [declared.name for tool in self.tools for declared in tool.function_declarations]
