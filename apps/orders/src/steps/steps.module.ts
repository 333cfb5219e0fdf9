import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { InboxEntry } from './inbox-entry.entity.js';
import { InboxPurge } from './inbox-purge.js';
import { Inbox } from './inbox.js';
import { StepsFactory } from './steps.factory.js';

@Module({
  imports: [TypeOrmModule.forFeature([InboxEntry])],
  providers: [Inbox, InboxPurge, StepsFactory],
  exports: [StepsFactory],
})
export class StepsModule {}
