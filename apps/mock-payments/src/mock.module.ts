import { type DynamicModule, Module } from '@nestjs/common';
import type { Answer } from './answer-table.js';
import { ANSWERS, MockController } from './mock.controller.js';
import { SeenKeys } from './seen-keys.js';

@Module({})
export class MockModule {
  static with(answers: readonly Answer[]): DynamicModule {
    return {
      module: MockModule,
      controllers: [MockController],
      providers: [SeenKeys, { provide: ANSWERS, useValue: answers }],
    };
  }
}
