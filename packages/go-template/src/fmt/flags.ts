import { runesOf } from '../text/bytes.ts';
import { checkText } from '../value/work.ts';

/** The flags of one verb: `%-08.3f` and so on. */
export interface Flags {
  width: number | undefined;
  precision: number | undefined;
  minus: boolean;
  plus: boolean;
  sharp: boolean;
  space: boolean;
  zero: boolean;
  /** `%+v`, which is not the same as a sign. */
  plusV: boolean;
  /** `%#v`: Go syntax. */
  sharpV: boolean;
}

export function noFlags(): Flags {
  return {
    width: undefined,
    precision: undefined,
    minus: false,
    plus: false,
    sharp: false,
    space: false,
    zero: false,
    plusV: false,
    sharpV: false,
  };
}

/** A text padded to the width with spaces, or with zeros on the left if the flag says so. */
export function pad(text: string, flags: Flags, zero = flags.zero): string {
  if (flags.width === undefined) return text;
  const missing = flags.width - runesOf(text).length;
  if (missing <= 0) return text;
  checkText(missing);
  if (flags.minus) return text + ' '.repeat(missing);
  return (zero ? '0' : ' ').repeat(missing) + text;
}
