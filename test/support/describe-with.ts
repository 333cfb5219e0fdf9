import { describe } from '@jest/globals';

/** A server that a machine may have. */
export interface ServerProgram {
  name: string;
  isThere: boolean;
  /** What `apt-get install` takes. */
  package: string;
  /** The variable that is `1` where it must be there, as in CI. */
  required: string;
}

/** A suite that needs a server. It is left out where the machine has none, and says so; where it must be there, it fails. */
export function describeWith(program: ServerProgram, title: string, body: () => void): void {
  if (program.isThere) {
    describe(title, body);
    return;
  }
  const reason = `there is no ${program.name} on this machine`;
  const install = `apt-get install ${program.package}`;
  if (process.env[program.required] === '1') {
    throw new Error(`${program.required} is 1, and ${reason}: ${install}`);
  }
  process.stdout.write(`SKIPPED "${title}": ${reason} (${install}).\n`);
  describe.skip(title, body);
}
