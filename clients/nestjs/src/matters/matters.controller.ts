import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post, Query } from "@nestjs/common";
import { ApiTags } from "@nestjs/swagger";
import { From } from "../contract/caller.js";
import type { Caller } from "../contract/caller.js";
import { Contract } from "../contract/contract.js";
import { toContract } from "../contract/json.js";
import type { Json } from "../contract/json.js";
import { Answers, AnswersNothing, Does } from "../openapi/decorators.js";
import type { Settings } from "../settings.js";
import { SETTINGS } from "../settings.module.js";
import { ClassifyBody, ExtractBody, MatterBody, MatterChanges, MattersQuery, SearchBody } from "./shapes.js";

@ApiTags("Matters and documents")
@Controller("matters")
export class MattersController {
  constructor(
    @Inject(Contract) private readonly contract: Contract,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  @Get()
  @Does("Lists the matters.")
  @Answers("ListMattersResponse")
  list(@From() caller: Caller, @Query({ schema: MattersQuery }) query: MattersQuery): Promise<Json> {
    return this.contract.json(caller, this.contract.matters, "listMatters", toContract(query));
  }

  @Post()
  @Does("Makes a matter.")
  @Answers("CreateMatterResponse", 201)
  create(@From() caller: Caller, @Body({ schema: MatterBody }) body: MatterBody): Promise<Json> {
    return this.contract.json(caller, this.contract.matters, "createMatter", toContract(body));
  }

  @Get(":matter_id")
  @Does("Shows a matter.")
  @Answers("GetMatterResponse")
  get(@From() caller: Caller, @Param("matter_id") matterId: string): Promise<Json> {
    return this.contract.json(caller, this.contract.matters, "getMatter", { matterId });
  }

  @Patch(":matter_id")
  @Does("Changes the name or the notes of a matter.")
  @Answers("UpdateMatterResponse")
  update(
    @From() caller: Caller,
    @Param("matter_id") matterId: string,
    @Body({ schema: MatterChanges }) changes: MatterChanges,
  ): Promise<Json> {
    const request = { matter: { ...changes, matterId }, updateMask: { paths: Object.keys(changes) } };
    return this.contract.json(caller, this.contract.matters, "updateMatter", request);
  }

  @Delete(":matter_id")
  @HttpCode(204)
  @Does("Deletes a matter and its documents.")
  @AnswersNothing()
  async delete(@From() caller: Caller, @Param("matter_id") matterId: string): Promise<void> {
    await this.contract.ask(caller, this.contract.matters, "deleteMatter", { matterId });
  }

  @Post(":matter_id/search")
  @HttpCode(200)
  @Does("Searches the documents of a matter.")
  @Answers("SearchResponse")
  search(
    @From() caller: Caller,
    @Param("matter_id") matterId: string,
    @Body({ schema: SearchBody }) body: SearchBody,
  ): Promise<Json> {
    const request = { ...toContract(body), matterId };
    return this.contract.json(caller, this.contract.tools, "search", request, this.settings.toolTimeoutMs);
  }

  @Post(":matter_id/extract")
  @HttpCode(200)
  @Does("Finds the answer to a question in the documents.")
  @Answers("ExtractResponse")
  extract(
    @From() caller: Caller,
    @Param("matter_id") matterId: string,
    @Body({ schema: ExtractBody }) body: ExtractBody,
  ): Promise<Json> {
    const request = { ...toContract(body), matterId };
    return this.contract.json(caller, this.contract.tools, "extract", request, this.settings.toolTimeoutMs);
  }

  @Post(":matter_id/classify")
  @HttpCode(200)
  @Does("Finds the clauses of given types.")
  @Answers("ClassifyResponse")
  classify(
    @From() caller: Caller,
    @Param("matter_id") matterId: string,
    @Body({ schema: ClassifyBody }) body: ClassifyBody,
  ): Promise<Json> {
    const request = { ...toContract(body), matterId };
    return this.contract.json(caller, this.contract.tools, "classify", request, this.settings.toolTimeoutMs);
  }
}
