import { type INestApplication, Logger } from '@nestjs/common';

/** Starts the application on all interfaces, or ends the process with one line that says why. */
export async function listen(app: INestApplication, port: number): Promise<void> {
  const logger = new Logger('Http');
  const giveUp = (reason: unknown): never => {
    logger.fatal(reason);
    process.exit(1);
  };
  const refused = (error: Error) =>
    giveUp(`Cannot listen on port ${port}: ${error.message}. Set PORT to a free port.`);
  const server = app.getHttpServer().once('error', refused);
  await app.listen(port, '0.0.0.0').catch(giveUp);
  server.off('error', refused);
  logger.log('Listening', { event: 'http.listening', port: server.address().port });
}
