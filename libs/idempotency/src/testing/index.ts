export {
  idempotencyCases,
  type CaseRequest,
  type IdempotencyCase,
  type IdempotencyCasesOptions,
} from './cases.js';
export { moveRecordClock, readRecord } from './records.js';
