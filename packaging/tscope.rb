# SPDX-License-Identifier: MIT
# For Homebrew: `brew install --HEAD packaging/tscope.rb` from a checkout that has a remote.
class Tscope < Formula
  desc "Says where the time of a PyTorch job went"
  homepage "https://example.org/tscope"
  license "MIT"
  head do
    url `git -C #{__dir__} remote get-url origin`.strip, using: :git, branch: "main"
  end

  depends_on "meson" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "isa-l"
  depends_on "libarchive"
  depends_on "libyaml"
  depends_on "sqlite"
  depends_on "lz4"
  depends_on "zstd"
  uses_from_macos "zlib"

  def install
    system "meson", "setup", "build", "-Dtests=false", *std_meson_args
    system "meson", "compile", "-C", "build", "--verbose"
    system "meson", "install", "-C", "build"
    pkgshare.install "testdata/slow_loader.json"
  end

  test do
    report = shell_output("#{bin}/tscope trace #{pkgshare}/slow_loader.json")
    assert_match "the data loader", report
  end
end
