import type { IdempotentContext } from '@exactly-once/nestjs';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { existsSync } from 'node:fs';
import { Repository } from 'typeorm';

import { Effect } from '../support/effect.entity.js';
import { Parent } from './parent.js';
import type { ServerMessage, ServerSettings } from './settings.js';

export interface WorkBody {
  /** Stop in the middle, until the parent lets go. */
  hold?: boolean;
  /** The first attempt then keeps its event loop from turning until there is a file of this name. */
  block?: string;
}

export const parent = new Parent<ServerSettings, ServerMessage>();

/** What the handlers of a server do. */
@Injectable()
export class Work {
  readonly name = parent.settings.name;

  constructor(@InjectRepository(Effect) private readonly effects: Repository<Effect>) {}

  async pause({ hold, block }: WorkBody, { attempt }: IdempotentContext): Promise<void> {
    if (hold) {
      await parent.standStill({ type: 'held' });
    }
    if (block && attempt === 1) {
      blockUntilThereIs(block);
    }
  }

  async save(what: string): Promise<string> {
    const { name } = await this.effects.save({ name: `${what} by ${this.name}` });
    return name;
  }

  /** Locks the row that all processes want, if there is one. */
  async lockSeat(): Promise<void> {
    await this.effects.update({ name: 'seat' }, { name: 'seat' });
  }
}

function blockUntilThereIs(file: string): void {
  const nobodyWakesIt = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(file)) {
    Atomics.wait(nobodyWakesIt, 0, 0, 20);
  }
}
