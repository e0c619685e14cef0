/**
 * Text of strangers (a path, a name, a message that quotes them) for a terminal or a line of its own: control characters, which could
 * colour, hide or forge what stands around them, are written as escapes.
 */
export function printable(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
