import { Controller, Get, Inject } from "@nestjs/common";
import { ApiTags } from "@nestjs/swagger";
import { From } from "../contract/caller.js";
import type { Caller } from "../contract/caller.js";
import { Contract } from "../contract/contract.js";
import type { Json } from "../contract/json.js";
import { Answers, Does } from "../openapi/decorators.js";

@ApiTags("Access")
@Controller("caller")
export class AccessController {
  constructor(@Inject(Contract) private readonly contract: Contract) {}

  @Get()
  @Does("Says whom the service takes the caller for.")
  @Answers("GetCallerResponse")
  caller(@From() caller: Caller): Promise<Json> {
    return this.contract.json(caller, this.contract.access, "getCaller", {});
  }
}
