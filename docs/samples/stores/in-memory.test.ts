// #region test
import { Idempotent, IdempotencyModule, InMemoryIdempotencyStore } from '@exactly-once/nestjs';
import { Controller, Post } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import assert from 'node:assert/strict';
import { after, test } from 'node:test';

@Controller('messages')
class MessagesController {
  private sent = 0;

  @Post()
  @Idempotent()
  send() {
    this.sent += 1;
    return { sent: this.sent };
  }
}

const store = new InMemoryIdempotencyStore();
const testing = Test.createTestingModule({
  imports: [IdempotencyModule.forRoot({ scope: false, store })],
  controllers: [MessagesController],
});
const app = (await testing.compile()).createNestApplication();
await app.listen(0);
after(() => app.close());

const url = `${await app.getUrl()}/messages`;
const send = () => fetch(url, { method: 'POST', headers: { 'Idempotency-Key': 'k' } });

test('a message is sent once, and anew when its record has expired', async () => {
  const first = await send();
  const again = await send();
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assert.equal(await again.text(), await first.text());
  assert.equal(store.peek('k')?.attempt, 1);

  store.moveClock('25h');
  assert.deepEqual(await (await send()).json(), { sent: 2 });
});
// #endregion
