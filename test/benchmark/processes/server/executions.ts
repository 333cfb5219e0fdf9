/** How often handlers have run in this process. */
export const executions = { count: 0 };
