import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';

import { answerParent } from '../answer.js';
import { cpuTime } from '../cpu-time.js';
import { AppModule } from './app.module.js';
import type { ServerAnswers } from './answers.js';
import { executions } from './executions.js';
import { heapInUse } from './heap-in-use.js';
import { httpAdapter } from './http-adapter.js';
import { loadedScripts } from './loaded-scripts.js';
import { reportStatistics } from './report-statistics.js';
import { countRoundTrips, roundTrips } from './round-trips.js';
import { SERVER_SETTINGS, type ServerSettings } from './settings.js';
import { loadVariant } from './variants/load-variant.js';

const settings = JSON.parse(process.env[SERVER_SETTINGS]!) as ServerSettings;
countRoundTrips();

const variant = await loadVariant(settings);
const app = await NestFactory.create(
  AppModule.with(settings, variant),
  await httpAdapter(settings.adapter),
  // Errors are thrown and end the process, with their message.
  { logger: ['fatal', 'error', 'warn'], abortOnError: false },
);
await app.listen(0, '127.0.0.1');
const url = await app.getUrl();

answerParent({
  url: () => url,
  usage: () => ({ cpu: cpuTime(), executions: executions.count, roundTrips: roundTrips.count }),
  reportStatistics: () => reportStatistics(app.get(DataSource)),
  purge: () => variant.purge!(app),
  heap: heapInUse,
  loadedScripts,
} satisfies ServerAnswers);
