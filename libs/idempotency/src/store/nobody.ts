/** The owner of a record that was released with steps: no attempt has it as its fencing token. @publicApi */
export const NOBODY = '00000000-0000-0000-0000-000000000000';
