export {
  idempotencyCases,
  type CaseRequest,
  type IdempotencyCase,
  type IdempotencyCasesOptions,
} from './cases.js';
export { moveRecordClock, readRecord } from './records.js';
export {
  idempotencyStoreContract,
  type StoreContractCase,
  type StoreContractOptions,
} from './store-contract/store-contract.js';
export type { IdempotencyStore } from '../store/idempotency-store.interface.js';
