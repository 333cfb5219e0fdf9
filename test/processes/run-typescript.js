// For `node --import`: the process runs the TypeScript sources of the library and of the tests, as they are.
import { register } from 'node:module';

register('./typescript-hooks.js', import.meta.url);
