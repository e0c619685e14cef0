const ENCODER = new TextEncoder();

/** How many bytes the text takes in UTF-8; half a surrogate pair takes three, as it is written as U+FFFD. */
export function utf8LengthBytes(text: string): number {
  return ENCODER.encode(text).length;
}
