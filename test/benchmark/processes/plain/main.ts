import { Body, Controller, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

import { answerParent } from '../answer.js';
import { cpuTime } from '../cpu-time.js';
import { httpAdapter } from '../server/http-adapter.js';
import { loadedScripts } from '../server/loaded-scripts.js';
import { SERVER_SETTINGS, type ServerSettings } from '../server/settings.js';

/** As the documentation of Nest begins: nothing but a handler, for the bare variant to be compared with. */
@Controller()
class PlainController {
  @Post('no-op')
  noOp(@Body() body: object) {
    return body;
  }
}

@Module({ controllers: [PlainController] })
class PlainModule {}

const { adapter } = JSON.parse(process.env[SERVER_SETTINGS]!) as ServerSettings;
const app = await NestFactory.create(PlainModule, await httpAdapter(adapter), { logger: false });
await app.listen(0, '127.0.0.1');
const url = await app.getUrl();

answerParent({
  url: () => url,
  usage: () => ({ cpu: cpuTime(), executions: 0, roundTrips: 0 }),
  loadedScripts,
});
