import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface Pair {
  client: Socket;
  server: Socket;
  /** Called in place of the next answer, which is lost. */
  loss?: () => unknown;
}

/** A network between a store and its server that can fail. */
export class AnswerLosingProxy {
  private readonly pairs = new Set<Pair>();
  /** How many were made. */
  connections = 0;
  private nextLoss: (() => unknown) | undefined;
  private isSilent = false;

  private constructor(
    private readonly listener: Server,
    private readonly canLose: (request: Buffer) => boolean,
  ) {}

  /** @param canLose of which requests the answer may be lost; of any, where it is left out */
  static async start(
    serverPort: number,
    canLose: (request: Buffer) => boolean = () => true,
  ): Promise<AnswerLosingProxy> {
    const listener = createServer();
    const proxy = new AnswerLosingProxy(listener, canLose);
    listener.on('connection', (client) => proxy.join(client, connect(serverPort, '127.0.0.1')));
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.listener.address() as AddressInfo).port;
  }

  /**
   * The answer to the next request does not arrive: its connection is cut off when the server has given it.
   *
   * @param meanwhile called at that moment
   */
  loseNextAnswer(meanwhile: () => unknown = () => undefined): void {
    this.nextLoss = meanwhile;
  }

  /** From now on no answer arrives on the connections that are open. New ones work. */
  silence(): void {
    this.isSilent = true;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.listener.close(resolve));
  }

  /** Cuts all connections that are open. */
  cut(): void {
    for (const { client, server } of this.pairs) {
      client.destroy();
      server.destroy();
    }
  }

  private join(client: Socket, server: Socket): void {
    const pair: Pair = { client, server };
    this.pairs.add(pair);
    this.isSilent = false;
    this.connections += 1;
    const end = (): void => {
      this.pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on('error', end).on('close', end);
    client.on('data', (data) => {
      if (this.nextLoss && this.canLose(data)) {
        pair.loss = this.nextLoss;
        this.nextLoss = undefined;
      }
      server.write(data);
    });
    server.on('data', (data) => {
      if (pair.loss) {
        end();
        pair.loss();
      } else if (!this.isSilent) {
        client.write(data);
      }
    });
  }
}
