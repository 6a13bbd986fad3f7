import { randomUUID } from "node:crypto";
import { Body, Controller, Inject, Post, Res } from "@nestjs/common";
import { ApiTags } from "@nestjs/swagger";
import type { Response } from "express";
import { From } from "../contract/caller.js";
import type { Caller } from "../contract/caller.js";
import { toContract } from "../contract/json.js";
import { EventStreams } from "../http/event-streams.js";
import { Refusal } from "../http/refusal.js";
import { Does, StreamsTurn } from "../openapi/decorators.js";
import { Assets } from "./assets.js";
import { LastEvent } from "./last-event.js";
import { ChatBody } from "./shapes.js";
import { laterTurnEvent, turnEvent } from "./turn-json.js";
import { Turns } from "./turns.js";

@ApiTags("Chat")
@Controller("chat")
export class ChatController {
  constructor(
    @Inject(Turns) private readonly turns: Turns,
    @Inject(Assets) private readonly assets: Assets,
    @Inject(EventStreams) private readonly streams: EventStreams,
  ) {}

  @Post()
  @Does("Sends a message and streams its turn.")
  @StreamsTurn()
  async chat(
    @From() caller: Caller,
    @Body({ schema: ChatBody }) body: ChatBody,
    @LastEvent() lastEvent: number,
    @Res() response: Response,
  ): Promise<void> {
    const { request_id: named = "" } = body;
    if (lastEvent > 0 && named === "")
      throw Refusal.ofField("request_id", "With Last-Event-ID it says which turn is resumed.");
    const message = await this.assets.added(caller, body, body.session_id ?? "");
    const requestId = named === "" ? randomUUID() : named;
    const request = { ...toContract(message), requestId };
    await this.streams.answer(response, {
      items: (gate) =>
        lastEvent > 0 ? this.turns.goOn(caller, request, lastEvent, gate) : this.turns.begin(caller, request, gate),
      event: lastEvent > 0 ? laterTurnEvent : turnEvent,
      headers: ({ turnId }) => ({ "Proviso-Turn-Id": turnId, "Proviso-Request-Id": requestId }),
    });
  }
}
