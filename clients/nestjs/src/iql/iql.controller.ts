import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query, Res } from "@nestjs/common";
import { ApiTags } from "@nestjs/swagger";
import type { Response } from "express";
import { From } from "../contract/caller.js";
import type { Caller } from "../contract/caller.js";
import { Contract } from "../contract/contract.js";
import { toContract, toJson } from "../contract/json.js";
import type { Json } from "../contract/json.js";
import { EventStreams } from "../http/event-streams.js";
import { Page } from "../http/shapes.js";
import { Answers, Does, Streams } from "../openapi/decorators.js";
import { parsedQuery } from "./parsed-query.js";
import { ParseBody, QueryBody } from "./shapes.js";

@ApiTags("IQL")
@Controller()
export class IqlController {
  constructor(
    @Inject(Contract) private readonly contract: Contract,
    @Inject(EventStreams) private readonly streams: EventStreams,
  ) {}

  @Get("iql/templates")
  @Does("Lists the templates of IQL.")
  @Answers("ListIqlTemplatesResponse")
  templates(@From() caller: Caller, @Query({ schema: Page }) page: Page): Promise<Json> {
    return this.contract.json(caller, this.contract.tools, "listIqlTemplates", toContract(page));
  }

  @Post("iql/parse")
  @HttpCode(200)
  @Does("Reads a query and tells its tree or its errors.")
  @Answers("ParseIqlResponse")
  async parse(@From() caller: Caller, @Body({ schema: ParseBody }) body: ParseBody): Promise<Json> {
    return parsedQuery(body.query, await this.contract.ask(caller, this.contract.tools, "parseIql", toContract(body)));
  }

  @Post("matters/:matter_id/iql")
  @Does("Runs a query over the documents of a matter.")
  @Streams({ document_result: ["StreamIqlResponse"], summary: ["StreamIqlResponse"] })
  async execute(
    @From() caller: Caller,
    @Param("matter_id") matterId: string,
    @Body({ schema: QueryBody }) body: QueryBody,
    @Res() response: Response,
  ): Promise<void> {
    const request = { query: { ...toContract(body), matterId } };
    await this.streams.answer(response, {
      items: (gate) => this.contract.stream(caller, this.contract.tools, "streamIql", request, gate),
      event: ({ summary, documentResult, totals, documentIndex }) =>
        summary
          ? { event: "summary", data: toJson({ summary, totals }) }
          : { event: "document_result", data: toJson({ documentResult, totals, documentIndex }) },
    });
  }
}
