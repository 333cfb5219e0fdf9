// For `node --import`: the clock of this process is wrong by CLOCK_OFFSET milliseconds, everywhere that JavaScript asks.
const offset = Number(process.env.CLOCK_OFFSET);
const RealDate = Date;
const now = () => RealDate.now() + offset;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, values, newTarget) =>
    Reflect.construct(target, values.length === 0 ? [now()] : values, newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, name, receiver) => (name === 'now' ? now : Reflect.get(target, name, receiver)),
});
// Or `new date.constructor()` would have the right time.
RealDate.prototype.constructor = globalThis.Date;
