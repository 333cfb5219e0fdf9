import { describe, expect, it } from '@jest/globals';

import { fillIn } from './document.js';

describe('the document', () => {
  it('gets the output of a run between its marks, in place of the one before', () => {
    const text = 'Before\n<!-- benchmark:begin -->\n\nold\n\n<!-- benchmark:end -->\nAfter\n';
    expect(fillIn(text, ['new', 'table'])).toBe(
      'Before\n<!-- benchmark:begin -->\n\nnew\ntable\n\n<!-- benchmark:end -->\nAfter\n',
    );
  });

  it('is left as it is when a mark is missing', () => {
    expect(() => fillIn('<!-- benchmark:begin -->', [])).toThrow('<!-- benchmark:end -->');
  });
});
