/** Where the engine reports what no client is told. */
export interface EngineLogger {
  warn(message: string, cause?: unknown): void;
  error(message: string, cause?: unknown): void;
}
