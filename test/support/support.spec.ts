import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Body, Controller, Headers, Logger, Post } from '@nestjs/common';
import { DataSource } from 'typeorm';

import { onEachAdapter } from './adapters.js';
import { startApp, type TestApp } from './app.js';
import { emptyTemplate } from './database-templates.js';
import { createTestDatabase } from './database.js';
import { send, sendRaw } from './http.js';

@Controller()
class EchoController {
  private readonly logger = new Logger(EchoController.name);

  @Post('echo')
  echo(@Body() body: unknown, @Headers('x-odd') odd: string) {
    this.logger.warn('An echo was asked for.');
    return { body, odd };
  }
}

onEachAdapter((adapter) => {
  let echo: TestApp;

  beforeAll(async () => {
    echo = await startApp({ adapter, controllers: [EchoController] });
  });

  afterAll(() => echo.close());

  it('answers over HTTP, and its log lines can be read', async () => {
    const headers = { 'X-Odd': 'caf\u00e9' };
    const answer = await send(echo.url, { path: '/echo', body: { a: 1 }, headers });
    expect(answer.status).toBe(201);
    expect(answer.json()).toEqual({ body: { a: 1 }, odd: 'caf\u00e9' });
    expect(echo.log.messages('warn')).toContain('An echo was asked for.');
  });

  it('can be sent two header lines of one name', async () => {
    const answer = await send(echo.url, { path: '/echo', headers: { 'X-Odd': ['a', 'b'] } });
    expect(answer.json().odd).toBe('a, b');
  });

  it('can be sent what no well-behaved client sends', async () => {
    const answer = await sendRaw(
      echo.url,
      'POST /echo HTTP/1.1\r\nHost: x\r\nX-Odd: \x01\r\nConnection: close\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('createTestDatabase', () => {
  it('gives each caller a database of its own, on a template that several ask for at once', async () => {
    const template = { ...emptyTemplate, name: 'support_spec' };
    const databases = await Promise.all([createTestDatabase({ template }), createTestDatabase({ template })]);
    for (const { url, name } of databases) {
      const dataSource = await new DataSource({ type: 'postgres', url }).initialize();
      await expect(dataSource.query('SELECT current_database() AS name')).resolves.toEqual([{ name }]);
      await dataSource.query('CREATE TABLE only_here ()');
      await dataSource.destroy();
    }
    await Promise.all(databases.map((database) => database.drop()));
  });
});
