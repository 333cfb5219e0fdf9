import {
  Idempotent,
  IdempotencyContext,
  type IdempotentContext,
  type IdempotentOptions,
} from '@exactly-once/nestjs';
import { Body, Controller, Post, Res } from '@nestjs/common';

import type { HttpResponse } from './http.js';
import {
  startIdempotentApp,
  type IdempotentApp,
  type IdempotentAppOptions,
  type PostOptions,
} from './idempotent-app.js';

/** What a handler gets to do its work with. */
export interface ScriptInput {
  context: IdempotentContext;
  body: any;
  /** The framework's response, as `@Res({ passthrough: true })` gives it. */
  response: any;
}

export type Script = (input: ScriptInput) => unknown;

/** An app with one handler, `POST /`, that does what the test at hand says: the test shows its handler whole. */
export interface ScriptedApp extends IdempotentApp {
  /** Posts a request, which the script answers; it answers later requests too. */
  run(script: Script, request?: PostOptions): Promise<HttpResponse>;
  /** Lets the script answer the requests that come. */
  handle(script: Script): void;
  /** How often the handler was started since the last `run()` or `handle()`. */
  executions(): number;
}

export interface ScriptedAppOptions extends Omit<IdempotentAppOptions, 'controllers'> {
  /** What the handler's `@Idempotent()` gets. */
  handler?: IdempotentOptions;
}

export async function startScriptedApp({ handler, ...options }: ScriptedAppOptions): Promise<ScriptedApp> {
  let executions = 0;
  let current: Script | undefined;

  @Controller()
  class ScriptedController {
    @Post()
    @Idempotent(handler)
    run(
      @Body() body: unknown,
      @IdempotencyContext() context: IdempotentContext,
      @Res({ passthrough: true }) response: unknown,
    ): unknown {
      executions += 1;
      return current?.({ context, body, response });
    }
  }

  const app = await startIdempotentApp({ ...options, controllers: [ScriptedController] });
  const handle = (script: Script): void => {
    executions = 0;
    current = script;
  };
  return {
    ...app,
    handle,
    run(script, request) {
      handle(script);
      return app.post(request);
    },
    executions: () => executions,
  };
}
