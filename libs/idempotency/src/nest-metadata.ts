/**
 * Metadata that Nest keeps on controllers and methods. Nest 11 and 12 export these names from different
 * places, and neither calls them public, so they are written out here.
 */
export const METHOD_METADATA = 'method';
export const PATH_METADATA = 'path';
export const SSE_METADATA = '__sse__';
export const RENDER_METADATA = '__renderTemplate__';
export const ROUTE_ARGS_METADATA = '__routeArguments__';
export const RESPONSE_PASSTHROUGH_METADATA = '__responsePassthrough__';

/** `RouteParamtypes.RESPONSE` and `.NEXT`: the parameters by which a handler takes the response over. */
const TAKES_RESPONSE_OVER = /^[12]:/;

/** Whether Nest leaves the reply to the handler itself (`@Res()` or `@Next()`, without `passthrough`). */
export function handlesResponse(controller: Function, methodName: string): boolean {
  const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, methodName) ?? {}) as object;
  const isPassthrough = Reflect.getMetadata(RESPONSE_PASSTHROUGH_METADATA, controller, methodName) === true;
  return !isPassthrough && Object.keys(args).some((key) => TAKES_RESPONSE_OVER.test(key));
}
