const ENCODER = new TextEncoder();

/** Orders text by its UTF-8 bytes, as Go does. UTF-16 order differs only where surrogates meet U+E000..U+FFFF. */
export function compareUtf8(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
}

/** Moves surrogates (code points beyond the basic plane) above every other unit. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** How many bytes the text takes in UTF-8; half a surrogate pair takes three, as it is written as U+FFFD. */
export function utf8LengthBytes(text: string): number {
  return ENCODER.encode(text).length;
}
