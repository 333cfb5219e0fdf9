export const RECORDS = ['first', 'second'] as const;
export const OWNERS = [
  'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa',
  'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb',
  'cccccccc-cccc-4ccc-8ccc-cccccccccccc',
] as const;
/** Responses that are recorded, with their status. */
export const RESPONSES = { created: 201, declined: 402, unavailable: null } as const;

export type RecordName = (typeof RECORDS)[number];
export type Owner = (typeof OWNERS)[number];
export type ResponseName = keyof typeof RESPONSES;

interface OnRecord<Type extends string> {
  type: Type;
  record: RecordName;
}

interface ByOwner<Type extends string> extends OnRecord<Type> {
  owner: Owner;
}

interface Claim extends ByOwner<'claim'> {
  fingerprint: 'x' | 'y';
  takeOverAbandoned: boolean;
}

interface Complete extends ByOwner<'complete'> {
  response: ResponseName;
}

interface RecordSteps extends ByOwner<'recordSteps'> {
  steps: string;
  /** With `recordStepsWith()`. */
  inTransaction: boolean;
}

/** A call of the store, or what time does to a record. */
export type Operation =
  | Claim
  | Complete
  | RecordSteps
  | ByOwner<'release'>
  | ByOwner<'renew'>
  | OnRecord<'releaseAbandoned'>
  | OnRecord<'lapseLease'>
  | OnRecord<'endRetention'>
  | OnRecord<'find'>
  | OnRecord<'inspect'>
  | { type: 'purge' };

export type OperationOf<Type extends Operation['type']> = Extract<Operation, { type: Type }>;

/** Shows all that a record is, the end of its retention included, which a live lease hides. */
export const OBSERVATION: Operation[] = RECORDS.flatMap((record) =>
  (['find', 'inspect', 'lapseLease', 'inspect'] as const).map((type) => ({ type, record })),
);

export function describeOperation({ type, ...rest }: Operation): string {
  const details = Object.entries(rest).map(([name, value]) => `${name} ${short(value)}`);
  return `${type}(${details.join(', ')})`;
}

function short(value: unknown): string {
  return OWNERS.includes(value as Owner) ? String(value).charAt(0) : String(value);
}
