import { Module } from '@nestjs/common';
import { Inbox } from './inbox.js';
import { StepsFactory } from './steps.factory.js';

@Module({ providers: [Inbox, StepsFactory], exports: [StepsFactory] })
export class StepsModule {}
