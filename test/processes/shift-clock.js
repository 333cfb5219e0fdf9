// For `node --import`: the clock of this process is wrong by CLOCK_OFFSET milliseconds.
const offset = Number(process.env.CLOCK_OFFSET);
const TrueDate = Date;

globalThis.Date = class extends TrueDate {
  static now() {
    return TrueDate.now() + offset;
  }

  constructor(...parts) {
    super(...(parts.length === 0 ? [TrueDate.now() + offset] : parts));
  }
};
