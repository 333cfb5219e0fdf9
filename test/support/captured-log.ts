import type { LoggerService } from '@nestjs/common';

export interface LogLine {
  level: 'log' | 'error' | 'warn' | 'debug' | 'verbose' | 'fatal';
  message: string;
  /** Stack and context, as Nest passes them. */
  rest: unknown[];
}

/** A logger that prints nothing and remembers everything. */
export class CapturedLog implements LoggerService {
  readonly lines: LogLine[] = [];

  log = this.capture('log');
  error = this.capture('error');
  warn = this.capture('warn');
  debug = this.capture('debug');
  verbose = this.capture('verbose');
  fatal = this.capture('fatal');

  /** Messages of one level, or of all. */
  messages(level?: LogLine['level']): string[] {
    return this.lines.filter((line) => !level || line.level === level).map((line) => line.message);
  }

  clear(): void {
    this.lines.length = 0;
  }

  private capture(level: LogLine['level']) {
    return (message: unknown, ...rest: unknown[]): void => {
      const text = message instanceof Error ? (message.stack ?? message.message) : message;
      this.lines.push({ level, message: typeof text === 'string' ? text : JSON.stringify(text), rest });
    };
  }
}
