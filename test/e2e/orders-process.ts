import { fileURLToPath } from 'node:url';

import type { AdapterName } from '../support/adapters.js';
import { send, type HttpResponse } from '../support/http.js';
import { Child } from '../processes/child.js';

export const MAIN = fileURLToPath(new URL('../../apps/orders/src/main.ts', import.meta.url));

/** The sample application in a process of its own. */
export class OrdersProcess {
  private constructor(
    readonly child: Child<{ type: 'ready'; url: string }>,
    readonly url: string,
  ) {}

  static async start(adapter: AdapterName, env: NodeJS.ProcessEnv): Promise<OrdersProcess> {
    const settings = { HTTP_ADAPTER: adapter, PORT: '0', ...env };
    const child = new Child<{ type: 'ready'; url: string }>({ script: MAIN, env: settings });
    const { url } = await child.message();
    return new OrdersProcess(child, url);
  }

  post(path: string, key: string, body?: object, token = 'demo-alice'): Promise<HttpResponse> {
    const headers = { Authorization: `Bearer ${token}`, 'Idempotency-Key': key };
    return send(this.url, { method: 'POST', path: `/v1${path}`, headers, ...(body && { body }) });
  }
}
