import { ensureChromium } from './chromium.js';

console.log(ensureChromium());
