import { decodeRune } from '../text/bytes.ts';
import { type Any, isInteger, isString, isUnsigned } from '../value/go-type.ts';
import { Printer, noFlags } from './printer.ts';

/** fmt.Sprint: adds a space only between two arguments that are both not strings. */
export function sprint(args: readonly Any[]): string {
  const printer = new Printer();
  args.forEach((arg, index) => {
    const previous = args[index - 1] ?? null;
    if (index > 0 && !isString(arg) && !isString(previous)) printer.write(' ');
    printer.printArg(arg, 'v');
  });
  return printer.text;
}

/** fmt.Sprintln */
export function sprintln(args: readonly Any[]): string {
  const printer = new Printer();
  args.forEach((arg, index) => {
    if (index > 0) printer.write(' ');
    printer.printArg(arg, 'v');
  });
  return `${printer.text}\n`;
}

/** fmt.Sprintf */
export function sprintf(format: string, args: readonly Any[]): string {
  const run = new FormatRun(format, args);
  return run.all();
}

const LARGEST = 1_000_000;

/** One walk through a format (doPrintf). */
class FormatRun {
  readonly #printer = new Printer();
  readonly #format: string;
  readonly #args: readonly Any[];
  #at = 0;
  #arg = 0;
  #reordered = false;
  #goodArg = true;
  /** The previous item was an index such as [3]. */
  #afterIndex = false;

  constructor(format: string, args: readonly Any[]) {
    this.#format = format;
    this.#args = args;
  }

  all(): string {
    while (this.#at < this.#format.length) {
      const percent = this.#format.indexOf('%', this.#at);
      const end = percent < 0 ? this.#format.length : percent;
      this.#printer.write(this.#format.slice(this.#at, end));
      this.#at = end + 1;
      if (percent >= 0 && !this.#verb()) break;
    }
    if (!this.#reordered && this.#arg < this.#args.length) this.#extra();
    return this.#printer.text;
  }

  /** @returns whether the rest of the format is processed */
  #verb(): boolean {
    this.#goodArg = true;
    this.#afterIndex = false;
    this.#printer.flags = noFlags();
    this.#flags();
    this.#index();
    this.#width();
    this.#precision();
    if (!this.#afterIndex) this.#index();
    if (this.#at >= this.#format.length) {
      this.#printer.write('%!(NOVERB)');
      return false;
    }
    const { rune, width } = decodeRune(this.#format, this.#at);
    this.#at += width;
    this.#print(String.fromCodePoint(rune), this.#format.slice(this.#at - width, this.#at));
    return true;
  }

  #flags(): void {
    const { flags } = this.#printer;
    for (; ; this.#at++) {
      const char = this.#format[this.#at];
      if (char === '#') flags.sharp = true;
      else if (char === '0') flags.zero = true;
      else if (char === '+') flags.plus = true;
      else if (char === '-') flags.minus = true;
      else if (char === ' ') flags.space = true;
      else return;
    }
  }

  #print(verb: string, bytes: string): void {
    const { flags } = this.#printer;
    if (verb === '%') return this.#printer.write('%');
    if (!this.#goodArg) return this.#printer.write(`%!${bytes}(BADINDEX)`);
    if (this.#arg >= this.#args.length) return this.#printer.write(`%!${bytes}(MISSING)`);
    if (verb === 'v' || verb === 'w') {
      [flags.sharpV, flags.sharp] = [flags.sharp, false];
      [flags.plusV, flags.plus] = [flags.plus, false];
    }
    this.#printer.printArg(this.#args[this.#arg] ?? null, verb);
    this.#arg++;
  }

  #width(): void {
    const { flags } = this.#printer;
    if (this.#format[this.#at] === '*') {
      this.#at++;
      const width = this.#integerArg();
      if (width === undefined) this.#printer.write('%!(BADWIDTH)');
      else if (width < 0) {
        flags.width = -width;
        flags.minus = true;
        flags.zero = false;
      } else flags.width = width;
      this.#afterIndex = false;
      return;
    }
    flags.width = this.#number();
    if (this.#afterIndex && flags.width !== undefined) this.#goodArg = false;
  }

  #precision(): void {
    const { flags } = this.#printer;
    if (this.#format[this.#at] !== '.' || this.#at + 1 >= this.#format.length) return;
    this.#at++;
    if (this.#afterIndex) this.#goodArg = false;
    this.#index();
    if (this.#format[this.#at] !== '*') {
      flags.precision = this.#number() ?? 0;
      return;
    }
    this.#at++;
    const precision = this.#integerArg();
    flags.precision = precision === undefined || precision < 0 ? undefined : precision;
    if (flags.precision === undefined) this.#printer.write('%!(BADPREC)');
    this.#afterIndex = false;
  }

  /** An argument that sets a width or a precision. */
  #integerArg(): number | undefined {
    const arg = this.#args[this.#arg] ?? null;
    if (this.#arg < this.#args.length) this.#arg++;
    if (arg === null || !(isInteger(arg) || isUnsigned(arg))) return undefined;
    const number = Number(arg.data);
    return Math.abs(number) > LARGEST ? undefined : number;
  }

  #number(): number | undefined {
    const digits = /^\d+/.exec(this.#format.slice(this.#at, this.#at + 20))?.[0];
    if (digits === undefined) return undefined;
    if (Number(digits) > LARGEST) {
      // As in Go, a number that is too large ends the format.
      this.#at = this.#format.length;
      return undefined;
    }
    this.#at += digits.length;
    return Number(digits);
  }

  /** `[3]`: which argument comes next. */
  #index(): void {
    if (this.#format[this.#at] !== '[') {
      this.#afterIndex = false;
      return;
    }
    this.#reordered = true;
    const close = this.#format.indexOf(']', this.#at + 1);
    if (close < 0 || this.#format.length - this.#at < 3) {
      this.#goodArg = false;
      this.#at++;
      this.#afterIndex = false;
      return;
    }
    const inside = this.#format.slice(this.#at + 1, close);
    this.#at = close + 1;
    const isNumber = /^\d{1,7}$/.test(inside);
    const index = Number(inside) - 1;
    if (isNumber && index >= 0 && index < this.#args.length) this.#arg = index;
    else this.#goodArg = false;
    this.#afterIndex = isNumber;
  }

  #extra(): void {
    const printer = this.#printer;
    printer.flags = noFlags();
    printer.write('%!(EXTRA ');
    this.#args.slice(this.#arg).forEach((arg, index) => {
      if (index > 0) printer.write(', ');
      if (arg !== null) printer.write(`${arg.type.name}=`);
      printer.printArg(arg, 'v');
    });
    printer.write(')');
  }
}
